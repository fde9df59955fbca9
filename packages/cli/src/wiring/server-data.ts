import type { Agent, DecisionRecord, Pod } from "@nodelet/core";
import type { NodeletServerData } from "@nodelet/http-server";
import type { StopSwitch } from "../run/stop-switch.ts";
import { type SettingKey, type Settings, settingEntries } from "../settings/settings-table.ts";
import { KUBERNETES_VERSION, NODELET_VERSION } from "../version.ts";

/** What the listeners show of an agent. */
export function serverData(options: {
  readonly agent: Agent;
  readonly settings: Settings;
  readonly stop: StopSwitch;
}): NodeletServerData {
  const { agent, settings, stop } = options;
  let ready = false;
  void agent.ready.then(() => {
    ready = true;
  });
  return {
    pods: () => agent.pods().map(({ pod, status }): Pod => ({ ...pod, ...(status !== undefined && { status }) })),
    decisions: ({ pod }) => decisionsOf(agent, pod),
    config: () => shownSettings(settings),
    status: () => ({
      ready,
      node: agent.config.nodeName,
      pid: process.pid,
      nodelet: NODELET_VERSION,
      kubernetes: KUBERNETES_VERSION,
      stopping: stop.signal.aborted,
      ...agent.health(),
      work: Object.fromEntries(agent.pods().map(({ pod, phase }) => [pod.metadata?.uid ?? "", phase])),
    }),
    healthChecks: () => [
      {
        name: "syncloop",
        check: () => (agent.health().syncLoop ? undefined : "sync Loop took longer than expected"),
      },
    ],
    stop: () => stop.request("the control socket asked for it"),
  };
}

/** By UID, `namespace/name` or name. Of a name that several pods had, all of them. */
function decisionsOf(agent: Agent, pod: string | undefined): readonly DecisionRecord[] {
  const all = agent.decisions.list();
  if (pod === undefined) return all;
  const byUid = agent.decisions.list({ podUid: pod });
  if (byUid.length > 0) return byUid;
  return all.filter(
    ({ pod: ref }) => ref !== undefined && (pod === ref.name || pod === `${ref.namespace}/${ref.name}`),
  );
}

function shownSettings(settings: Settings): Readonly<Record<string, unknown>> {
  const shown = settingEntries.map(([key, setting]): [SettingKey, unknown] => {
    const value: unknown = settings[key];
    const isEmpty = Array.isArray(value) && value.length === 0;
    return [key, setting.secret === true && !isEmpty ? "***" : value];
  });
  return Object.fromEntries(shown);
}
