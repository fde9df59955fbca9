/** Sources of static pods. */
export { DirectoryPodSource, type DirectoryPodSourceOptions } from "./directory-pod-source.ts";
export { UrlPodSource, type UrlPodSourceOptions } from "./url-pod-source.ts";
