import type { Container } from "../../api/index.ts";
import type { Place } from "./env.ts";

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** restartPolicy and restartPolicyRules of one container (KEP-5307; KEP-753 for sidecars). */
export function validateRestartRules(container: Container, place: Place & { readonly isInit: boolean }): void {
  const { path, problems } = place;
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy !== undefined && !["Always", "Never", "OnFailure"].includes(restartPolicy)) {
    problems.unsupported({
      path: `${path}.restartPolicy`,
      value: restartPolicy,
      supported: ["Always", "OnFailure", "Never"],
    });
  }
  if (rules.length > 0 && restartPolicy === undefined) {
    problems.required({
      path: `${path}.restartPolicy`,
      detail: "must specify restartPolicy when restart rules are used",
    });
  }
  if (rules.length > MAX_RULES)
    problems.tooMany({ path: `${path}.restartPolicyRules`, count: rules.length, max: MAX_RULES });
  for (const [index, rule] of rules.entries()) {
    const own = `${path}.restartPolicyRules[${index}]`;
    if (rule.action !== "Restart" && rule.action !== "RestartAllContainers") {
      problems.unsupported({
        path: `${own}.action`,
        value: rule.action,
        supported: ["Restart", "RestartAllContainers"],
      });
    }
    if (rule.exitCodes === undefined) {
      problems.required({ path: `${own}.exitCodes`, detail: "must be specified" });
      continue;
    }
    if (rule.exitCodes.operator !== "In" && rule.exitCodes.operator !== "NotIn") {
      problems.unsupported({
        path: `${own}.exitCodes.operator`,
        value: rule.exitCodes.operator,
        supported: ["In", "NotIn"],
      });
    }
    const count = (rule.exitCodes.values ?? []).length;
    if (count > MAX_EXIT_CODES) problems.tooMany({ path: `${own}.exitCodes.values`, count, max: MAX_EXIT_CODES });
  }
}
