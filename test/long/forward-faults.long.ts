import { describeFaults } from '../harness/forward-faults.ts';
import { API, DIRECT, SSH } from '../harness/forward-traffic.ts';

/** Every fault by every way, with connections and without: eight minutes. */
describeFaults([DIRECT, SSH, API], { idle: true, expiry: true });
