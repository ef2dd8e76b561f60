import { describeFaults } from '../harness/forward-faults.ts';
import { API } from '../harness/forward-traffic.ts';

/** By the way that leaves most behind; the others and what takes longer are in test/long/forward-faults.long.ts. */
describeFaults([API], { idle: false, expiry: true });
