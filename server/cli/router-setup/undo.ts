import { AGENT_ADDRESS, CERTIFICATE, COMMENT, FOLDER, ROOT_FOLDER, USER, VETH } from './names.ts';

/** Attempts of 2 s each: a container stops within its stop-time (default 10 s). */
const REMOVE_TRIES = 30;

/**
 * Lines that remove exactly what `setupLines` created, in reverse order. They skip what does not exist; the uploaded archive
 * stays.
 */
export function undoLines({ disk }: { disk: string }): string[] {
  const parts = [container(), rules(), services(), account(), network(), files(disk)];
  return ['{', ...parts.flat(), ':put "signalbox: everything is removed"', '}'];
}

/** Without the package the menu does not exist, and there is nothing to remove. */
function container(): string[] {
  const find = `/container/find where comment=${COMMENT}`;
  return [
    ':if ([:len [/system/package/find where name="container" and disabled=no]] > 0) do={',
    `:local sbMine [:parse ":return [${find}]"]`,
    `:local sbStop [:parse "/container/stop [${find}]"]`,
    `:local sbDrop [:parse "/container/remove [${find}]"]`,
    ':local n 0',
    `:while ([:len [$sbMine]] > 0 && $n < ${REMOVE_TRIES}) do={`,
    ':do { $sbStop } on-error={}',
    ':delay 2s',
    ':do { $sbDrop } on-error={}',
    ':set n ($n + 1)',
    '}',
    ':if ([:len [$sbMine]] > 0) do={ :error "signalbox: the container does not stop, see /container/print" }',
    `:local sbMounts [:parse "/container/mounts/remove [/container/mounts/find where comment=${COMMENT}]"]`,
    '$sbMounts',
    '}',
  ];
}

function rules(): string[] {
  return ['filter', 'nat'].map((table) => `/ip/firewall/${table}/remove [/ip/firewall/${table}/find where comment=${COMMENT}]`);
}

/** Closes the services that were opened for the agent only. */
function services(): string[] {
  return [
    ':foreach w in={"api-ssl";"ssh"} do={',
    ':local s ([/ip/service/find where name=$w]->0)',
    `:if ([:tostr [/ip/service/get $s certificate]] = "${CERTIFICATE}") do={ /ip/service/set $s certificate=none }`,
    ':local a [:toarray [/ip/service/get $s address]]',
    ':local b [:toarray ""]',
    `:foreach x in=$a do={ :if ([:tostr $x] != "${AGENT_ADDRESS}/32") do={ :set b ($b , $x) } }`,
    ':if ([:len $b] < [:len $a]) do={',
    ':if ([:len $b] = 0) do={ /ip/service/set $s disabled=yes address="" } else={ /ip/service/set $s address=$b }',
    '}',
    '}',
    `/certificate/remove [/certificate/find where name="${CERTIFICATE}"]`,
  ];
}

function account(): string[] {
  return [`/user/remove [/user/find where name="${USER}"]`, `/user/group/remove [/user/group/find where name="${USER}"]`];
}

function network(): string[] {
  return [
    `/ip/address/remove [/ip/address/find where interface="${VETH}"]`,
    `/interface/veth/remove [/interface/veth/find where name="${VETH}"]`,
  ];
}

/** Removing a folder removes its files, so some no longer exist when their turn comes. RouterOS removes the container's files. */
function files(disk: string): string[] {
  return [FOLDER, ROOT_FOLDER].map((name) => {
    const folder = `${disk}/${name}`.replaceAll('.', '[.]');
    return `:foreach i in=[/file/find where name~"^${folder}(/|\\$)"] do={ :do { /file/remove $i } on-error={} }`;
  });
}
