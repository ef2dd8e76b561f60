/** The demonstration has an application of its own (compose/sandbox.ts), so it is not in the list of features. */
export { describePlantError, plantRoutes } from './routes.ts';
