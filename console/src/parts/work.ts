/** States of jobs, guards and campaigns' routers, as people name them. */
export type Work = 'waiting' | 'running' | 'armed' | 'done' | 'failed' | 'rolled_back' | 'unknown' | 'expired' | 'canceled' | 'skipped';
