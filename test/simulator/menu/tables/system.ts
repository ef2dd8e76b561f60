/** What lies under /disk, /system, /tool and /snmp and does nothing here but be kept. */
export const SYSTEM_TABLES = `
/system/logging  key=topics flags
  topics                  required
  action                  @/system/logging/action               =memory
  prefix                  =
+ topics=info action=memory prefix= disabled=false
+ topics=error action=memory prefix= disabled=false
+ topics=warning action=memory prefix= disabled=false
+ topics=critical action=echo prefix= disabled=false

/system/logging/action  unique=name
  name                    required
  target                  disk|echo|email|memory|remote         required
  remote                  ip
  remote-port             1..65535
  src-address             ip
  memory-lines            1..65535
  disk-file-name
  email-to
+ name=memory target=memory memory-lines=1000
+ name=disk target=disk disk-file-name=log
+ name=echo target=echo
+ name=remote target=remote remote=0.0.0.0 remote-port=514

/system/ntp/server  single since=7.0
  enabled                 bool                                  =no
  broadcast               bool                                  =no
  multicast               bool                                  =no

/disk  since=7.0 observed
  slot                    readonly
  model                   readonly
  size                    readonly
  free                    readonly
  state                   readonly
  raid-member-state       readonly
  raid-member-failed      readonly
  critical-warning        readonly

/system/watchdog  single
  watch-address           none|ip                               =none
  watchdog-timer          bool                                  =yes
  automatic-supout        bool                                  =yes
  auto-send-supout        bool                                  =no

/system/leds/settings  single
  all-leds-off            after-1h|after-1min|immediate|never   =never

/system/console  flags
  port                    =serial0
  term                    =vt102

/system/history  observed
  action                  readonly
  by                      readonly
  time                    readonly

/tool/mac-server  single
  allowed-interface-list  @/interface/list                      =all

/tool/mac-server/mac-winbox  single
  allowed-interface-list  @/interface/list                      =all

/tool/bandwidth-server  single
  enabled                 bool                                  =yes
  authenticate            bool                                  =yes
  max-sessions            1..1000                               =100

/tool/romon  single
  enabled                 bool                                  =no
  secrets                 =                                     sensitive

/tool/graphing/interface  key=interface flags
  interface               all|interface                         =all
  allow-address           network                               =0.0.0.0/0
  store-on-disk           bool                                  =yes

/tool/e-mail  single
  address                 host                                  =0.0.0.0   until=7.12
  server                  host                                  =0.0.0.0   since=7.12
  port                    1..65535                              =25
  start-tls               no|tls-only|yes                       =no        until=7.12
  tls                     no|starttls|yes                       =no        since=7.12
  from                    =<>
  user                    =
  password                =                                     sensitive
  last-status             readonly
  last-address            readonly

/tool/netwatch  until=7.0 key=host comment
  host                    ip                                    required
  interval                duration                              =1m
  timeout                 duration                              =1s
  up-script               =
  down-script             =
  status                  readonly
  since                   readonly
  disabled                bool                                  =no

/tool/netwatch  since=7.0 key=host comment
  name
  host                    host                                  required
  type                    dns|http-get|https-get|icmp|simple|tcp-conn   =simple   since=7.4
  interval                duration                              =10s
  timeout                 duration                              =3s
  up-script               =
  down-script             =
  status                  readonly
  since                   readonly
  disabled                bool                                  =no

/snmp/community  unique=name
  name                    required
  addresses               list(network)                         =::/0
  security                authorized|none|private               =none
  read-access             bool                                  =yes
  write-access            bool                                  =no
+ name=public addresses=::/0 security=none read-access=true write-access=false
`;
