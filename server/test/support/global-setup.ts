// What a whole test run shares: one throw-away PostgreSQL server, started beside the first tests. Says when there is none and why.
// Holds no tables; databases.ts makes a database of its own for each test that asks.

import type { TestProject } from 'vitest/node';
import { freePort, postgresMissing, postgresUrl, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this run; it may still be starting. Null where PostgreSQL is not installed. */
    postgresUrl: string | null;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (postgresMissing !== null) {
    project.provide('postgresUrl', null);
    console.warn(
      `\nSKIPPED: every test that needs a PostgreSQL server (${postgresMissing}). The embedded database is tested all the same.\n`,
    );
    return async () => undefined;
  }
  // Not awaited: tests that need no server should not wait for one.
  const port = await freePort();
  const starting = startPostgres(port);
  starting.catch((error: unknown) => console.error('The PostgreSQL server of this test run did not start:', error));
  project.provide('postgresUrl', postgresUrl(port));
  return async () => {
    const server = await starting.catch(() => null);
    await server?.remove();
  };
}
