// The first sign-up on a real server: the token that it prints, over restarts; and the TypeScript client as a page uses it.

import { expect, test } from 'vitest';
import { SignUpRefusedError, Tranche } from '../../sdks/typescript/src/index.ts';
import { PASSWORD } from './support/people.ts';
import { dataDirectory, startServer } from './support/server-process.ts';

/** A page of the server: its client, and the cookies that a browser would keep. */
function openPage(url: string) {
  const cookies = new Map<string, string>();
  let workspace: string | null = null;
  const client = new Tranche({
    baseUrl: url,
    workspace: () => workspace,
    async fetch(address, init) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { ...(init.headers as Record<string, string>), origin: url, ...(cookie === '' ? {} : { cookie }) };
      const response = await fetch(address, { ...init, headers });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      return response;
    },
  });
  return { client, choose: (id: string) => (workspace = id) };
}

test('each start prints another token until somebody has signed up, the last one counts, and the client works with the session (I-28)', async () => {
  const environment = { DATA_DIR: await dataDirectory() };
  const printed = async () => {
    const server = await startServer(environment);
    return { server, token: /#setup_token=(\S+)/.exec(server.stdout())?.[1] };
  };
  const first = await printed();
  await first.server.stop();
  const second = await printed();
  expect(first.token).toMatch(/^setup_[\w-]{24}$/);
  expect(second.token).not.toBe(first.token);

  const { client, choose } = openPage(second.server.url);
  expect((await client.account.retrieveSetup()).needs_setup).toBe(true);
  const who = { email: 'ada@example.com', password: PASSWORD, name: 'Ada' };
  await expect(client.account.signUp({ ...who, setup_token: first.token as string })).rejects.toThrow(SignUpRefusedError);
  const { account } = await client.account.signUp({ ...who, setup_token: second.token as string });
  expect(account?.workspaces).toMatchObject([{ name: 'Default', role: 'owner' }]);
  const made = await client.workspaces.create({ name: 'Second' });
  choose(made.id);
  const project = await client.projects.create({ name: 'Website', client_id: 'acme' });
  expect((await client.projects.retrieve(project.id)).name).toBe('Website');
  const entries = await client.auditEntries.list();
  expect(entries.data.map(({ action, ip }) => [action, ip])).toEqual([
    ['member.added', '127.0.0.1'],
    ['workspace.created', '127.0.0.1'],
  ]);
  await second.server.stop();
  const third = await printed();
  expect(third.token).toBeUndefined();
  await third.server.stop();
});
