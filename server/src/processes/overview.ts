// What the supervisor tells the operator of all its processes together: their metrics on one page, and whether they can work.
// Asks the processes; decides nothing about them.

import { type Family, renderFamilies } from '../operations/instruments.ts';
import type { Health } from '../operations/operator-server.ts';
import { systemFamilies } from '../operations/process-families.ts';
import { gatherFamilies, judgeHealth, type Told } from './gather.ts';
import type { Supervisor } from './supervisor.ts';

export interface Overview {
  metricsText(): Promise<string>;
  health(): Promise<Health>;
}

const states = ['starting', 'serving', 'retiring'] as const;

export function createOverview(supervisor: Pick<Supervisor, 'members' | 'counts'>, wanted: number): Overview {
  function ownFamilies(): Family[] {
    const { members, counts } = supervisor;
    return [
      {
        name: 'tranche_processes',
        help: 'Processes of this supervisor, by state.',
        type: 'gauge',
        samples: states.map((state) => ({ labels: { state }, value: members.filter((member) => member.state === state).length })),
      },
      {
        name: 'tranche_process_ends_total',
        help: 'Processes that ended while the whole went on: crashed ones, and those that retired for a successor.',
        type: 'counter',
        samples: [
          { labels: { reason: 'crashed' }, value: counts.crashes },
          { labels: { reason: 'retired' }, value: counts.retirements },
        ],
      },
    ];
  }

  return {
    async metricsText() {
      const told = await Promise.all(
        supervisor.members
          .filter(({ state }) => state !== 'starting')
          .map(async ({ number, worker }): Promise<Told> => {
            // One that does not answer must not take the others with it.
            return { process: String(number), families: (await worker.report(true))?.families ?? [] };
          }),
      );
      const own: Told = { process: 'supervisor', families: systemFamilies() };
      return renderFamilies([...ownFamilies(), ...gatherFamilies([...told, own])]);
    },
    async health() {
      const serving = supervisor.members.filter(({ state }) => state === 'serving');
      return judgeHealth(await Promise.all(serving.map(({ worker }) => worker.report(false))), wanted);
    },
  };
}
