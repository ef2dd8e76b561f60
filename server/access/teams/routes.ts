import type { App } from '../../platform/http/app.ts';
import { invitationRoutes } from './invitations/routes.ts';
import type { InvitationRoutesDeps } from './invitations/routes.ts';
import { memberRoutes } from './members/routes.ts';
import type { MemberRoutesDeps } from './members/routes.ts';

export type TeamRoutesDeps = MemberRoutesDeps & InvitationRoutesDeps;

/** Members of the team, and invitations to it. */
export function teamRoutes(app: App, deps: TeamRoutesDeps): void {
  memberRoutes(app, deps);
  invitationRoutes(app, deps);
}
