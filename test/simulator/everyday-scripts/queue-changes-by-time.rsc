# Slow one subscriber down, then give the speed back.
# run-on: all
/queue simple add name=customer-17 target=192.168.88.10 max-limit=50M/100M comment=subscriber
/queue simple set customer-17 max-limit=5000k/10000k
/system scheduler add name=speed-back interval=1h on-event="/queue simple set customer-17 max-limit=50M/100M"
#! check ([/queue simple get customer-17 max-limit] = "5M/10M")
#! check ([/queue simple get customer-17 target] = "192.168.88.10/32")
#! wait 61m
#! check ([/queue simple get customer-17 max-limit] = "50M/100M")
#! refuse /queue simple add name=q target=bogus -> invalid value for argument target
#! refuse /queue simple add name=q target=192.168.88.20 max-limit=ten/ten -> invalid value for argument max-limit
#! refuse /queue simple add name=q target=192.168.88.20 max-limit=1M/2M/3M -> invalid value for argument max-limit
#! refuse /queue simple add name=q target=192.168.88.20 priority=0/9 -> value of priority out of range (1..8)
#! refuse /queue simple add name=customer-17 target=192.168.88.20 -> failure: already have item with such name
