/**
 * Replaces iconv-lite in the agent's bundle: half a megabyte of code tables for node-routeros' win1252, which
 * agent/routers/routeros-api replaces by UTF-8. A call throws.
 */
function notBundled(): never {
  throw new Error('iconv-lite is not part of the agent; text on the RouterOS API is UTF-8');
}

export const encode = notBundled;
export const decode = notBundled;
