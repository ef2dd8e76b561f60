# Block an address for an hour; the list forgets it by itself.
# run-on: all
/ip firewall address-list
add list=blocked address=198.51.100.7 timeout=1h comment="too many logins"
add list=trusted address=192.168.99.5/24
#! check ([/ip firewall address-list get [find list=blocked] dynamic] = true)
#! check ([/ip firewall address-list get [find list=trusted] address] = "192.168.99.0/24")
#! wait 61m
#! check ([:len [/ip firewall address-list find list=blocked]] = 0)
#! check ([:len [/ip firewall address-list find list=trusted]] = 1)
#! refuse /ip firewall address-list add list=blocked address=198.51.100.999 -> invalid value for argument address
#! refuse /ip firewall address-list add list=blocked address=10.0.0.9-10.0.0.1 -> invalid value for argument address
#! refuse /ip firewall address-list add list=blocked address=10.0.0.1 timeout=soon -> invalid value for argument timeout
