import { DOOR_JOURNEYS } from './door-journeys.ts';
import { FLEET_JOURNEYS } from './fleet-journeys.ts';
import { runJourneys } from './journey.ts';
import { ROLE_JOURNEYS } from './role-journeys.ts';
import { WORK_JOURNEYS } from './work-journeys.ts';

/** The twelve journeys, over plain HTTP on loopback. `journeys-tls.test.ts` and `test/long/journeys-tls.long.ts` have them over TLS. */
runJourneys([FLEET_JOURNEYS, WORK_JOURNEYS, DOOR_JOURNEYS, ROLE_JOURNEYS].flatMap((journeys) => Object.values(journeys)));
