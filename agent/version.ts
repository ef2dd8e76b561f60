/** Told to the control plane at every hello. Kept equal to package.json by a test. */
export const AGENT_VERSION = '0.1.0';
