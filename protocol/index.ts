export * from './codec.ts';
export * from './enrolment.ts';
export * from './limits.ts';
export * from './messages/index.ts';
export * from './version.ts';
