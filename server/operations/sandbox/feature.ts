/** The demonstration is a separate application (compose/sandbox.ts), so it is not in the list of features. */
export { describePlantError, plantRoutes } from './routes.ts';
