/** Names a file without opening it: no side effect on devices, never blocks on pipes. Same value on x64 and arm64; Node.js does not export it. */
export const O_PATH = 0o10000000;
