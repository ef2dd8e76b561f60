# Switch off what nobody uses and narrow the rest.
# run-on: all
/ip service disable telnet,ftp,www
/ip service set winbox address=192.168.88.0/24,10.0.0.0/8
/ip service set ssh port=2222
/tool mac-server set allowed-interface-list=LAN
/ip neighbor discovery-settings set discover-interface-list=LAN
#! check ([/ip service get www disabled] = true)
#! check ([/ip service get ssh port] = 2222)
#! refuse /ip service set ssh port=70000 -> invalid value for argument port
#! refuse /ip service set winbox address=nonsense -> invalid value for argument address
#! refuse /tool mac-server set allowed-interface-list=NOSUCH -> input does not match any value of allowed-interface-list
#! refuse /ip service disable gopher -> no such item
