export { groupListing, type PodListing, type RuntimeListing, sameListing } from "./listing.ts";
export { keepNewer, toObservedContainer, toObservedPod, toObservedSandbox, toRunState } from "./observed.ts";
