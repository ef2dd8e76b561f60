import { DOOR_JOURNEYS } from '../e2e/console/journeys/door-journeys.ts';
import { FLEET_JOURNEYS } from '../e2e/console/journeys/fleet-journeys.ts';
import { runJourneys } from '../e2e/console/journeys/journey.ts';
import { ROLE_JOURNEYS } from '../e2e/console/journeys/role-journeys.ts';
import { WORK_JOURNEYS } from '../e2e/console/journeys/work-journeys.ts';

/** Every journey through a reverse proxy with a certificate of an own CA: people, agents, streams and WebSockets. */
runJourneys(
  [FLEET_JOURNEYS, WORK_JOURNEYS, DOOR_JOURNEYS, ROLE_JOURNEYS].flatMap((journeys) => Object.values(journeys)),
  'tls',
);
