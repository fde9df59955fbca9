import { error, type Finding } from "./finding.ts";
import { eachFile, type Workspace } from "./workspace.ts";

/** Every exported declaration says what it promises, in a doc comment right before it. Tests and generated files may not. */
export function checkDocs(workspace: Workspace): Finding[] {
  return [...eachFile(workspace)]
    .filter(({ file }) => !file.isTest && !file.isGenerated && !file.path.endsWith(".config.ts"))
    .flatMap(({ file }) => {
      const documented = new Set(file.exports.filter((item) => item.documented).map((item) => item.name));
      return file.exports
        .filter((item) => !documented.has(item.name))
        .map((item) => error(file.path, `${item.name} has no doc comment: what does it promise?`, item.line));
    });
}
