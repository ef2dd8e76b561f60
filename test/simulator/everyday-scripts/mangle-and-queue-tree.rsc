# Mark guest traffic and limit it.
# run-on: all
/ip firewall mangle add chain=forward src-address=192.168.88.128/25 action=mark-packet new-packet-mark=guest passthrough=no comment=guests
/queue type add name=guest-pcq kind=pcq pcq-classifier=dst-address pcq-rate=2000k
/queue tree add name=guest-down parent=bridge packet-mark=guest max-limit=20M queue=guest-pcq
#! check ([/queue tree get guest-down max-limit] = "20M")
#! check ([/queue type get guest-pcq pcq-rate] = "2M")
#! refuse /queue tree add name=t2 parent=nosuch max-limit=1M -> input does not match any value of parent
#! refuse /queue tree add name=t2 parent=global max-limit=fast -> invalid value for argument max-limit
#! refuse /queue tree add name=t2 parent=global priority=9 -> value of priority out of range (1..8)
