import { ENROL_PATH, enrolRequest, enrolResponse } from '../../protocol/index.ts';
import type { App } from '../http/app.ts';
import { commonErrors } from '../http/envelope.ts';
import type { AuthService } from './service.ts';

/** The one request an agent makes before it has a credential. Its scope must limit strangers by address. */
export function enrolmentRoutes(app: App, deps: { auth: AuthService }): void {
  app.post(
    ENROL_PATH,
    {
      schema: {
        hide: true,
        summary: 'Turn a one-use enrolment token into an agent',
        body: enrolRequest,
        response: { 200: enrolResponse, ...commonErrors },
      },
    },
    async (request) => deps.auth.enrolAgent(request.body.token, request.body.name),
  );
}
