import type { Measures } from '../../feature.ts';
import type { StatesService } from './service.ts';
import { ROUTER_STATES } from './types.ts';

export function stateMeasures(states: Pick<StatesService, 'counts'>): Measures {
  return {
    teams: [
      {
        name: 'signalbox_routers',
        help: 'Routers by state, as every other answer shows it',
        type: 'gauge',
        label: { name: 'state', values: ROUTER_STATES },
        read: () =>
          [...states.counts()].flatMap(([teamId, counts]) =>
            ROUTER_STATES.map((state) => ({ teamId, labels: { state }, value: counts[state] })),
          ),
      },
    ],
  };
}
