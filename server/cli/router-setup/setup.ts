import { AGENT_ADDRESS, CERTIFICATE, COMMENT, FOLDER, NETWORK, ROOT_FOLDER, ROUTER_ADDRESS, TOKEN_FILE, USER, VETH } from './names.ts';
import { quoteAscii } from '../../../routeros-text/quote.ts';

export interface RouterSetup {
  /** Address of the control plane, as the router reaches it. */
  serverUrl: string;
  enrolToken: string;
  /** Name of the agent, which the router gets too. */
  name: string;
  /** Disk with the image's archive, without slashes around it: `disk1`. Checked by {@link isDisk}. */
  disk: string;
}

/** The policies that the agent needs, and no others (SECURITY.md). */
const POLICIES = 'read,write,api,ssh,test,policy,sensitive,ftp,password,reboot';
/** First minor version with `/file/add type=directory`. */
const FIRST_MINOR = 15;
/** From this minor version on, mounts are in lists; before, each mount has a name (command trees of 7.20.8 and 7.21.1). */
const MOUNT_LISTS_MINOR = 21;
const CERTIFICATE_DAYS = 3650;
/** Flash with a write-back cache shows a size of 0 for up to 40 s. */
const WRITE_SECONDS = 60;
/** Attempts of 5 s each: a slow flash disk takes minutes to unpack 110 MB. */
const START_TRIES = 120;

/** Letters, digits, dots, dashes, underscores, and slashes between them: safe in RouterOS lines without quotes. */
export function isDisk(text: string): boolean {
  return /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/.test(text);
}

/**
 * Lines to paste into a terminal of a router with RouterOS 7.15 or later. They check the router and stop with a reason before
 * any change. Then they create a user, a certificate, a network and the container. The lines are one block, so that an error
 * ends all of it. A second paste changes nothing; a paste after an error continues. The password is generated on the router.
 */
export function setupLines(setup: RouterSetup): string[] {
  const parts = [checks(setup), network(), account(), certificate(), services(), firewall(), files(setup), container(setup)];
  return ['{', ...parts.flat(), '}'];
}

const stop = (reason: string): string => `do={ :error (${reason}) }`;
const say = (text: string): string => quoteAscii(`signalbox: ${text}`);

function checks({ disk }: RouterSetup): string[] {
  return [
    ':local sbVersion [/system/resource/get version]',
    ':local sbDot [:find $sbVersion "."]',
    ':local sbMinor 0',
    ':for i from=($sbDot + 1) to=($sbDot + 2) do={',
    ':local c [:pick $sbVersion $i ($i + 1)]',
    ':if ([:typeof [:find "0123456789" $c]] = "num") do={ :set sbMinor ($sbMinor * 10 + [:tonum $c]) }',
    '}',
    `:if ([:pick $sbVersion 0 $sbDot] != "7" || $sbMinor < ${FIRST_MINOR}) ${stop(`${say(`RouterOS 7.${FIRST_MINOR} or later is needed, this is `)} . $sbVersion`)}`,
    ':local sbArch [/system/resource/get architecture-name]',
    ':local sbImage ""',
    `:if ($sbArch = "arm64") do={ :set sbImage "${disk}/signalbox-agent-arm64.tar" }`,
    `:if ($sbArch = "x86_64" || $sbArch = "x86") do={ :set sbImage "${disk}/signalbox-agent-amd64.tar" }`,
    `:if ($sbImage = "") ${stop(`${say('no image for the processor ')} . $sbArch . ", run the agent beside the router"`)}`,
    `:if ([:len [/system/package/find where name="container" and disabled=no]] = 0) ${stop(say('the container package is not installed'))}`,
    ':local sbMode [:tostr [/system/device-mode/get container]]',
    `:if ($sbMode != "true" && $sbMode != "yes") ${stop(say('containers are off: /system/device-mode/update container=yes, then press the button'))}`,
    `:if ([:tonum [:pick [:tostr [/system/clock/get date]] 0 4]] < 2025) ${stop(say('the clock is not set, certificates cannot be checked'))}`,
    `:if ([:len [/file/find where name=$sbImage]] = 0) ${stop(`${say('upload ')} . $sbImage . " first"`)}`,
    `:if ([:len [/ip/address/find where network=${NETWORK} and interface!="${VETH}"]] > 0) ${stop(say(`${NETWORK} is in use on this router`))}`,
    `:local sbMine [:parse ":return [/container/find where comment=${COMMENT}]"]`,
    `:if ([:len [$sbMine]] > 0) ${stop(say('the container exists already, nothing was changed'))}`,
  ];
}

function network(): string[] {
  return [
    `:if ([:len [/interface/veth/find where name="${VETH}"]] = 0) do={`,
    `/interface/veth/add name=${VETH} address=${AGENT_ADDRESS}/30 gateway=${ROUTER_ADDRESS} comment=${COMMENT}`,
    '}',
    `:if ([:len [/ip/address/find where interface="${VETH}"]] = 0) do={`,
    `/ip/address/add address=${ROUTER_ADDRESS}/30 interface=${VETH} comment=${COMMENT}`,
    '}',
  ];
}

function account(): string[] {
  return [
    ':local sbPass [:rndstr length=32 from="abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"]',
    `:if ([:len [/user/group/find where name="${USER}"]] = 0) do={`,
    `/user/group/add name=${USER} policy=${POLICIES} comment=${COMMENT}`,
    '}',
    `:if ([:len [/user/find where name="${USER}"]] = 0) do={`,
    `/user/add name=${USER} group=${USER} address=${AGENT_ADDRESS}/32 password=$sbPass comment=${COMMENT}`,
    `} else={ /user/set ${USER} group=${USER} address=${AGENT_ADDRESS}/32 password=$sbPass }`,
  ];
}

/** An existing API certificate stays: other clients may have pinned it. */
function certificate(): string[] {
  return [
    ':local sbApi ([/ip/service/find where name="api-ssl"]->0)',
    ':local sbCert [:tostr [/ip/service/get $sbApi certificate]]',
    ':if ($sbCert = "none" || $sbCert = "") do={',
    `:set sbCert "${CERTIFICATE}"`,
    ':if ([:len [/certificate/find where name=$sbCert]] = 0) do={',
    `/certificate/add name=$sbCert common-name=$sbCert days-valid=${CERTIFICATE_DAYS}`,
    '}',
    ':if ([:len [/certificate/get $sbCert fingerprint]] = 0) do={ /certificate/sign $sbCert }',
    ':local n 0',
    ':while ([:len [/certificate/get $sbCert fingerprint]] = 0 && $n < 60) do={ :delay 1s; :set n ($n + 1) }',
    '/ip/service/set $sbApi certificate=$sbCert',
    '}',
    ':local sbPrint [/certificate/get $sbCert fingerprint]',
    `:if ([:len $sbPrint] = 0) ${stop(say('the certificate was not signed in time, paste the lines again'))}`,
  ];
}

/** Opens the services that the agent cannot reach yet, for the agent only. */
function services(): string[] {
  return [
    `:if ([/ip/service/get $sbApi disabled]) do={ /ip/service/set $sbApi address=${AGENT_ADDRESS}/32 disabled=no }`,
    ':local sbSsh ([/ip/service/find where name="ssh"]->0)',
    ':foreach s in=($sbApi , $sbSsh) do={',
    ':local a [:toarray [/ip/service/get $s address]]',
    `:if ([:len $a] > 0 && [:typeof [:find [:tostr $a] "${AGENT_ADDRESS}/32"]] != "num") do={`,
    `/ip/service/set $s address=($a , "${AGENT_ADDRESS}/32")`,
    '}',
    '}',
    ':local sbPort [/ip/service/get $sbApi port]',
    ':local sbSshPort [/ip/service/get $sbSsh port]',
  ];
}

/** Default firewalls accept nothing from an unknown interface. Outgoing traffic needs source NAT to be answered. */
function firewall(): string[] {
  return [
    `:if ([:len [/ip/firewall/filter/find where comment=${COMMENT}]] = 0) do={`,
    ':local p ($sbPort . "," . $sbSshPort)',
    `/ip/firewall/filter/add chain=input action=accept protocol=tcp in-interface=${VETH} src-address=${AGENT_ADDRESS} dst-port=$p comment=${COMMENT}`,
    `:local r [/ip/firewall/filter/find where comment=${COMMENT}]`,
    ':local f ([/ip/firewall/filter/find where chain=input and dynamic=no]->0)',
    ':if ([:tostr $f] != [:tostr ($r->0)]) do={ /ip/firewall/filter/move $r destination=$f }',
    '}',
    `:if ([:len [/ip/firewall/nat/find where comment=${COMMENT}]] = 0) do={`,
    `/ip/firewall/nat/add chain=srcnat action=masquerade src-address=${AGENT_ADDRESS} comment=${COMMENT}`,
    '}',
  ];
}

/** Values are quoted as JSON: JSON strings are valid YAML. */
function files({ serverUrl, enrolToken, name, disk }: RouterSetup): string[] {
  const folder = `${disk}/${FOLDER}`;
  const yaml = (line: string): string => `:set sbYaml ($sbYaml . ${line})`;
  const plain = (line: string): string => yaml(quoteAscii(`${line}\n`));
  return [
    // `:parse`, because an older RouterOS does not know the word and would refuse the whole block before the version check.
    `:local sbFolder [:parse "/file/add name=${folder} type=directory"]`,
    `:if ([:len [/file/find where name="${folder}"]] = 0) do={ $sbFolder }`,
    ':local sbYaml ""',
    plain(`server: ${JSON.stringify(serverUrl)}`),
    plain('credentials: credentials.json'),
    plain(`enrol_token_file: ${TOKEN_FILE}`),
    plain('state: state'),
    plain('routers:'),
    plain(`  - name: ${JSON.stringify(name)}`),
    plain(`    host: ${ROUTER_ADDRESS}`),
    plain('    forward_way: direct'),
    plain('    api:'),
    yaml(
      `${quoteAscii('      tls: true\n      port: ')} . $sbPort . ${quoteAscii('\n      fingerprint: "')} . $sbPrint . ${quoteAscii('"\n')}`,
    ),
    yaml(`${quoteAscii(`      username: ${USER}\n      password: "`)} . $sbPass . ${quoteAscii('"\n')}`),
    ':if (![/ip/service/get $sbSsh disabled]) do={',
    yaml(`${quoteAscii('    ssh:\n      port: ')} . $sbSshPort . "\\0A"`),
    yaml(`${quoteAscii(`      username: ${USER}\n      password: "`)} . $sbPass . ${quoteAscii('"\n')}`),
    '}',
    ...writeFile(`${folder}/agent.yaml`, '$sbYaml'),
    ...writeFile(`${folder}/${TOKEN_FILE}`, quoteAscii(enrolToken)),
  ];
}

function writeFile(file: string, contents: string): string[] {
  return [
    `:foreach i in=[/file/find where name="${file}"] do={ /file/remove $i }`,
    `/file/add name="${file}" contents=${contents}`,
    ':local n 0',
    `:while ([:len [/file/find where name="${file}" and size>0]] = 0 && $n < ${WRITE_SECONDS}) do={ :delay 1s; :set n ($n + 1) }`,
    `:if ($n = ${WRITE_SECONDS}) ${stop(say(`${file} was not written, check free space on the disk`))}`,
  ];
}

/**
 * Without its package the menu does not exist, and its words differ by version. `:parse` reads these lines at run time; otherwise
 * the whole block would be a syntax error. RouterOS unpacks a container first; it can be started only after that.
 */
function container({ disk }: RouterSetup): string[] {
  return [
    ':local sbKey "name"',
    ':local sbRef "mounts"',
    `:if ($sbMinor >= ${MOUNT_LISTS_MINOR}) do={ :set sbKey "list"; :set sbRef "mountlists" }`,
    `:local sbMount [:parse ("/container/mounts/add " . $sbKey . "=${COMMENT} src=${disk}/${FOLDER} dst=/etc/signalbox comment=${COMMENT}")]`,
    `:local sbMounts [:parse ":return [/container/mounts/find where comment=${COMMENT}]"]`,
    ':if ([:len [$sbMounts]] = 0) do={ $sbMount }',
    `:local sbText ("/container/add file=" . $sbImage . " interface=${VETH} root-dir=${disk}/${ROOT_FOLDER} " . $sbRef . "=${COMMENT}")`,
    `:local sbAdd [:parse ($sbText . " hostname=signalbox-agent logging=yes start-on-boot=yes comment=${COMMENT}")]`,
    '$sbAdd',
    `:put ${say('unpacking the image, this takes some minutes')}`,
    `:local sbStart [:parse "/container/start [/container/find where comment=${COMMENT}]"]`,
    ':local sbUp false',
    ':local n 0',
    `:while (!$sbUp && $n < ${START_TRIES}) do={`,
    ':do { $sbStart; :set sbUp true } on-error={ :delay 5s; :set n ($n + 1) }',
    '}',
    `:if (!$sbUp) ${stop(say('the container does not start, see /container/print and /log/print'))}`,
    `:put ${say('the agent has started, the control plane lists this router within a minute')}`,
  ];
}
