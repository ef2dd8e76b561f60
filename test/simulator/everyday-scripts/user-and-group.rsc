# A user who may read and run scripts over SSH, from the office only.
# run-on: all
/user group add name=monitor policy=ssh,read,test
/user add name=watcher group=monitor password="Long-Enough-1" address=10.20.0.0/24
#! check ([/user get watcher group] = "monitor")
#! refuse /user add name=watcher group=monitor password=x -> failure: user with the same name already exists
#! refuse /user add name=w2 group=nosuch password=x -> input does not match any value of group
#! refuse /user group add name=g2 policy=fly -> input does not match any value of policy
