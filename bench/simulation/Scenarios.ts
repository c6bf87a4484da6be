/** Lists the runs for the table in docs/scaling.md. */

/** A run, and what it shows. */
export interface Scenario {
  readonly name: string
  readonly shows: string
  /** The flags of `npm run simulate`. */
  readonly flags: string
}

const zipf = "--keys 1e8"

/** All runs; each takes at most half a minute. */
export const scenarios: ReadonlyArray<Scenario> = [
  { name: "one", shows: "one node on PostgreSQL", flags: `--nodes 1 --rate 2000 --seconds 60 ${zipf}` },
  {
    name: "few",
    shows: "more requests than one per statement could handle",
    flags: `--nodes 4 --rate 10000 --seconds 30 ${zipf}`
  },
  {
    name: "hot",
    shows: "half of the requests have the same key",
    flags: `--nodes 4 --rate 10000 --seconds 30 --hot 0.5 ${zipf}`
  },
  {
    name: "many",
    shows: "small batches from many nodes, one core of PostgreSQL",
    flags: `--nodes 100 --rate 10000 --seconds 30 ${zipf}`
  },
  {
    name: "cores",
    shows: "the same with 8 cores",
    flags: `--nodes 100 --rate 10000 --seconds 30 --cores 8 ${zipf}`
  },
  {
    name: "overload",
    shows: "more requests than the store can count: 503 within the deadline",
    flags: `--nodes 16 --rate 60000 --seconds 5 ${zipf}`
  },
  {
    name: "redis",
    shows: "limits in one Redis",
    flags: `--nodes 16 --rate 50000 --seconds 10 --store redis ${zipf}`
  },
  {
    name: "cluster",
    shows: "a Redis Cluster of 6 masters",
    flags: `--nodes 100 --rate 200000 --seconds 4 --store redis --stores 6 ${zipf}`
  },
  {
    name: "shards",
    shows: "8 PostgreSQL servers with 8 cores each, by hash of the key",
    flags: `--nodes 100 --rate 200000 --seconds 4 --stores 8 --cores 8 ${zipf}`
  },
  {
    name: "thousand",
    shows: "1,000 nodes on a Redis Cluster of 24 masters",
    flags: `--nodes 1000 --rate 1000000 --seconds 0.5 --store redis --stores 24 ${zipf}`
  },
  {
    name: "polite",
    shows: "clients that retry after `Retry-After`, half of them with the same key",
    flags: `--nodes 4 --rate 1000 --seconds 60 --hot 0.5 --retries 1 ${zipf}`
  },
  {
    name: "failover",
    shows: "a failover: 200 ms of counts lost, 5 s unavailable",
    flags: `--nodes 4 --rate 5000 --seconds 30 --hot 0.2 --keys 10000 --failover 10000,200,5000`
  },
  {
    name: "strict",
    shows: "the same, without lost counts",
    flags: `--nodes 4 --rate 5000 --seconds 30 --hot 0.2 --keys 10000 --failover 10000,0,5000`
  },
  {
    name: "skew",
    shows: "nodes' clocks wrong by up to 30 s; limits use the store's clock",
    flags: `--nodes 16 --rate 5000 --seconds 30 --hot 0.2 --keys 10000 --skew 30000`
  },
  {
    name: "skewed",
    shows: "the same, but limits use the nodes' clocks",
    flags: `--nodes 16 --rate 5000 --seconds 30 --hot 0.2 --keys 10000 --skew 30000 --clock nodes`
  }
]
