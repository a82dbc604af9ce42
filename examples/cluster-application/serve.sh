#!/bin/sh
# Every member serves its rank; rank 0 also asks the others by name, all the time.
mkdir -p /www
echo "rank $NODE_RANK of $NUM_NODES" >/www/index.html
httpd -p "$NODE_ADDR:8080" -h /www
if [ "$NODE_RANK" != 0 ]; then
  while :; do sleep 3600; done
fi
while :; do
  rank=0
  while [ "$rank" -lt "$NUM_NODES" ]; do
    echo "node-$rank: $(wget -q -T 5 -O - "http://node-$rank:8080/" 2>&1)"
    rank=$((rank + 1))
  done
  sleep 10
done
