import { error, type Finding } from "./finding.ts";
import { eachFile, type Workspace } from "./workspace.ts";

const secondLook = 400;
const limit = 600;

/** 80 to 200 lines is the aim, over 400 gets a second look, over 600 fails. Generated files may be long. */
export function checkSizes(workspace: Workspace): Finding[] {
  return [...eachFile(workspace)].flatMap(({ file }): Finding[] => {
    if (file.isGenerated) {
      return [];
    }
    if (file.lineCount > limit) {
      return [error(file.path, `${file.lineCount} lines, over the limit of ${limit}: split it by noun`)];
    }
    return file.lineCount > secondLook
      ? [
          {
            severity: "warning",
            file: file.path,
            message: `${file.lineCount} lines, over ${secondLook}: should it be two files?`,
          },
        ]
      : [];
  });
}
