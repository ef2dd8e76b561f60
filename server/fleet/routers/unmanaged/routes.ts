import { UNMANAGED_PATH, unmanagedResponse } from '../../../../protocol/index.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { App } from '../../../platform/http/app.ts';
import { commonErrors } from '../../../platform/http/envelope.ts';
import type { RoutersService } from '../service.ts';

/** For `signalbox-agent check`. Its scope must admit agents only. */
export function unmanagedRoutes(app: App, { routers }: { routers: Pick<RoutersService, 'unmanagedOf'> }): void {
  app.get(
    UNMANAGED_PATH,
    {
      schema: {
        hide: true,
        summary: "List the routers of this agent's configuration that it does not manage",
        response: { 200: unmanagedResponse, ...commonErrors },
      },
    },
    async ({ agentCaller }) => {
      if (!agentCaller) throw new AppError('unauthenticated', 'only an agent may call this');
      return { routers: await routers.unmanagedOf(agentCaller.teamId, agentCaller.agentId) };
    },
  );
}
