/** RuntimeService and ImageService of @nodelet/core over the Container Runtime Interface (CRI v1). */
export {};
