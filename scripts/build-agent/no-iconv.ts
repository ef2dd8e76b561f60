/**
 * Stands in for iconv-lite in the agent's bundle: half a megabyte of code tables for node-routeros' win1252, which
 * agent/routers/routeros-api replaces by UTF-8. Should anything call it after all, it fails loudly.
 */
function notBundled(): never {
  throw new Error('iconv-lite is not part of the agent; text on the RouterOS API is UTF-8');
}

export const encode = notBundled;
export const decode = notBundled;
