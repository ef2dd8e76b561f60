import { DOOR_JOURNEYS } from './door-journeys.ts';
import { FLEET_JOURNEYS } from './fleet-journeys.ts';
import { runJourneys } from './journey.ts';

/** What a reverse proxy can break: the sign-in, the live stream, the WebSocket of a terminal, a forward. The others are in `test/long/`. */
runJourneys([FLEET_JOURNEYS.twoTabs, DOOR_JOURNEYS.terminal, DOOR_JOURNEYS.forward], 'tls');
