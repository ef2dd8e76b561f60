import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { InvitationsService } from './invitations/service.ts';
import { PasswordLinksService } from './password-links/service.ts';
import { passwordShares } from './password-turns.ts';
import { teamRoutes } from './routes.ts';
import { TeamsService } from './service.ts';

interface Routes {
  teams: TeamsService;
  invitations: InvitationsService;
  passwordLinks: PasswordLinksService;
  /** Its `baseUrl` is set once the server listens. */
  identity: { readonly baseUrl: string };
}

/** Teams and their members. */
export const teams = feature({
  create: ({ storage, clock, counters }: Pick<Platform, 'storage' | 'clock' | 'counters'>) => ({
    teams: new TeamsService({ storage, clock }),
    invitations: new InvitationsService({ storage, clock, counters }),
    passwordLinks: new PasswordLinksService({ storage, clock }),
  }),
  sweep: async ({ invitations, passwordLinks }) => {
    await invitations.sweep();
    await passwordLinks.sweep();
  },
  measures: () => ({ shares: { passwords: passwordShares } }),
  routes: (scope, { identity, ...services }: Routes) => teamRoutes(scope, { ...services, baseUrl: () => identity.baseUrl }),
});
