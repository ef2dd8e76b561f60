# A nightly job with only the rights it needs.
# run-on: all
/system scheduler add name=nightly start-time=02:00:00 interval=1d policy=read,write,test on-event=":log info nightly"
#! check ([/system scheduler get nightly policy] = "read,write,test")
#! refuse /system scheduler add name=x policy=everything on-event="" -> input does not match any value of policy
