// One server of ours on a PostgreSQL of its own, with workspaces, keys and payments: what the overload and the soak are run against.
// Sets up and tears down; measures nothing.

import { encodeId } from '../server/src/domain/ids.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Door, migrate, openServer } from './doors.ts';
import { fillBooks } from './fill.ts';
import { fireOpen, type OpenLoad, type OpenShot } from './open-loop.ts';
import { addMilestones, addWorkspace, pick, settle, type Workspace } from './seed.ts';
import { type Server, startServer, trancheEnvironment } from './servers.ts';
import { bodies } from './works.ts';

const WORKSPACES = 16;
const KEYS_EACH = 4;
const PROJECTS_EACH = 8;
const PAYMENTS = 10_000;

export interface Subject {
  readonly server: Server;
  /** Reads of payments by id, in no order. */
  readonly reads: readonly OpenShot[];
  /** Creations of a small project, by every key in turn. */
  readonly creations: readonly OpenShot[];
  /** Approvals, each of a milestone of its own. */
  approvals(count: number): Promise<OpenShot[]>;
  stop(): Promise<void>;
}

export async function openSubject(): Promise<Subject> {
  const cluster: Cluster = await startCluster();
  let door: Door | null = null;
  let server: Server | null = null;
  const stop = async (): Promise<void> => {
    await server?.stop();
    await door?.close();
    cluster.stop();
  };
  process.once('SIGINT', () => {
    cluster.stop();
    process.exit(130);
  });
  try {
    const url = cluster.url('postgres');
    await migrate(url);
    door = await openServer(url);
    const workspaces: Workspace[] = [];
    for (let i = 0; i < WORKSPACES; i++) workspaces.push(await addWorkspace(door, KEYS_EACH, PROJECTS_EACH));
    const reads: OpenShot[] = [];
    for (const workspace of workspaces)
      for (const id of await fillBooks(door, workspace, PAYMENTS / WORKSPACES))
        reads.push({ method: 'GET', path: `/v1/payments/${encodeId('payment', id)}`, key: pick(workspace.keys, reads.length) });
    reads.sort(() => Math.random() - 0.5);
    await settle(door);
    server = await startServer('tranche', { ...trancheEnvironment(), DATABASE_URL: url });
    const connection = door;
    return {
      server,
      reads,
      creations: workspaces.flatMap(({ keys }) =>
        keys.map((key) => ({ method: 'POST', path: '/v1/projects', key, body: '{"name":"Website","client_id":"client_42"}' })),
      ),
      async approvals(count) {
        const shots = await addMilestones(connection, workspaces, 'submitted', count);
        await settle(connection);
        return shots.map((shot) => ({ ...shot, body: bodies.approve }));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As many requests as this many connections bring through when each asks again at once. */
export async function saturation(load: Omit<OpenLoad, 'perSecond' | 'patienceMs'>, beyondPerSecond: number): Promise<number> {
  const { goodPerSecond } = await fireOpen({ ...load, perSecond: beyondPerSecond, patienceMs: 2 });
  return goodPerSecond;
}
