# Send warnings to a syslog server.
# run-on: all
/system logging action add name=central target=remote remote=192.168.88.12 remote-port=1514
/system logging add topics=warning,firewall action=central prefix=r1
#! check ([/system logging action get central remote-port] = 1514)
#! check ([:len [/system logging find action=central]] = 1)
#! refuse /system logging add topics=info action=nosuch -> input does not match any value of action
#! refuse /system logging action add name=c2 target=paper -> input does not match any value of target
#! refuse /system logging action add name=c2 target=remote remote=999.9.9.9 -> invalid value for argument remote
