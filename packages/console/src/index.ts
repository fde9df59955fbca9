/** What people see of a node in a terminal: pods and decisions as tables, live or as plain lines. */
export { shortAge } from "./age.ts";
export { takesColour } from "./colour.ts";
export { decisionList } from "./decision-list.ts";
export { fitLine, LiveScreen, type Terminal } from "./live-screen.ts";
export { type AgentWindow, lookAtPods } from "./look.ts";
export { PodJournal } from "./pod-journal.ts";
export { isPodReady, type PodLook, type PodRow, podName, podRow } from "./pod-row.ts";
export { podTable, sortPods } from "./pod-table.ts";
export { type Cell, type Column, layOutTable, paint, type TableInput, type Tone } from "./table.ts";
export { cutText, printable, textWidth } from "./text-width.ts";
