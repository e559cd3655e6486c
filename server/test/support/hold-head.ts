// A workspace's head, locked on a connection beside the service's own, as a process that has stopped in the middle of a commit would.

import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Uuid } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';
import { postgresUrl } from './postgres-server.ts';

export interface HeldHead {
  release(): Promise<void>;
}

/** Only on a PostgreSQL server. The connection ends with the test. */
export async function holdHead(app: TestApp, workspaceId: Uuid): Promise<HeldHead> {
  const [at] = await app.database.query<{ port: number; name: string }>('select inet_server_port() as port, current_database() as name');
  const client = new pg.Client({ connectionString: postgresUrl(at?.port as number, at?.name) });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('select from workspace_heads where workspace_id = $1 for update', [workspaceId]);
  return {
    async release() {
      await client.query('commit');
    },
  };
}
