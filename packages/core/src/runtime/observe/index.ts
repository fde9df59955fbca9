export { groupListing, type PodListing, type RuntimeListing, sameListing } from "./listing.ts";
export { keepNewer, toObservedContainer, toObservedPod, toObservedSandbox, toRunState } from "./observed.ts";
export { listingChanges, podChanges, type RuntimeChange, type RuntimeChangeKind } from "./runtime-changes.ts";
