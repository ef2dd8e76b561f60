# Read access for the monitoring network.
# run-on: all
/snmp community add name=monitor addresses=10.20.0.9/24 read-access=yes
/snmp set enabled=yes contact="noc@example.net" location="rack 4"
#! check ([/snmp community get monitor addresses] = "10.20.0.0/24")
#! check ([/snmp get location] = "rack 4")
#! refuse /snmp community add name=m2 addresses=10.20.0.0/77 -> invalid value for argument addresses
#! refuse /snmp set location=rack 4 -> expected end of command
