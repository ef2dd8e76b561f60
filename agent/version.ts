/** Sent to the control plane in every hello. A test keeps it equal to package.json. */
export const AGENT_VERSION = '0.1.0';
