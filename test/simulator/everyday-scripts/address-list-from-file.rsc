# Fill an address list from a file with one network per line.
# run-on: all
# file: bogons.txt=0.0.0.0/8\n100.64.0.0/10\n192.0.2.0/24\n
:local content [/file get bogons.txt contents]
:local from 0
:while ($from < [:len $content]) do={
  :local until [:find $content "\n" ($from - 1)]
  :local network [:pick $content $from $until]
  /ip firewall address-list add list=bogons address=$network
  :set from ($until + 1)
}
#! check ([:len [/ip firewall address-list find list=bogons]] = 3)
#! check ([:len [/ip firewall address-list find list=bogons address="100.64.0.0/10"]] = 1)
#! refuse /ip firewall address-list add list=bogons address=100.64.0.0/33 -> invalid value for argument address
#! refuse /file get nosuch.txt contents -> no such item
