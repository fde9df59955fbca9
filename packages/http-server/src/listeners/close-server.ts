import type { Server } from "node:http";

const GRACE_MS = 1_000;

/** Stops listening, closes idle connections, gives answers under way a second, then cuts the rest off. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}
