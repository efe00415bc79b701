// The map of a cluster: name servers, and below them each broker group with its replicas.

import { linkTo } from "../../data/address";
import type { Broker, Overview } from "../../data/shapes";
import { Bar, Pill, Section, type Tone } from "../../parts/basics";
import { t } from "../../words";
import { bytes, duration, milliseconds, percent, rate } from "../../words/figures";

export function ClusterMap({ overview }: { overview: Overview }) {
  const clusters = Map.groupBy(overview.brokers, (broker) => broker.cluster);
  return (
    <Section
      title={t("Map")}
      note={t("{masters} masters, {brokers} brokers", {
        masters: overview.totals.masters,
        brokers: overview.totals.brokers,
      })}
    >
      <div class="map">
        <div class="map-row">
          <span class="map-label">{t("Name servers")}</span>
          {overview.name_servers.map((server) => (
            <span key={server.address} class={`map-server ${server.problem ? "bad" : ""}`}>
              {server.address}
              {server.problem && <Pill tone="bad">{server.problem}</Pill>}
            </span>
          ))}
        </div>
        {[...clusters].map(([cluster, brokers]) => (
          <div class="map-row" key={cluster}>
            <span class="map-label">{cluster}</span>
            <div class="map-groups">
              {[...Map.groupBy(brokers, (broker) => broker.name)].map(([name, members]) => (
                <BrokerCard key={name} name={name} members={members} />
              ))}
            </div>
          </div>
        ))}
      </div>
    </Section>
  );
}

function BrokerCard({ name, members }: { name: string; members: Broker[] }) {
  const master = members.find((member) => member.is_master);
  return (
    <article class="broker-card" aria-label={name}>
      <a class="broker-name" href={linkTo.broker(name)}>
        {name}
      </a>
      {!master && <Pill tone="bad">{t("no master")}</Pill>}
      {master && <MasterFigures broker={master} />}
      <ul>
        {members.map((member) => (
          <li key={member.address} class="member">
            <Pill tone={memberTone(member)}>{roleOf(member)}</Pill>
            <span>{member.address}</span>
            <span class="muted">{memberNote(member)}</span>
          </li>
        ))}
      </ul>
    </article>
  );
}

function MasterFigures({ broker }: { broker: Broker }) {
  const disk = broker.disk;
  return (
    <>
      <div class="broker-figures">
        <span>
          ↓ <b>{rate(broker.in)}</b>
        </span>
        <span>
          ↑ <b>{rate(broker.out)}</b>
        </span>
        {broker.put_ms && <span class="muted">p99 {milliseconds(broker.put_ms.p99)}</span>}
      </div>
      {disk?.used != null && (
        <Bar
          share={disk.used}
          tone={diskTone(broker)}
          text={`${t("disk")} ${percent(disk.used)}`}
        />
      )}
    </>
  );
}

export function roleOf(broker: Broker): string {
  if (broker.is_master) return t("master");
  return t("slave {id}", { id: broker.id });
}

function memberTone(broker: Broker): Tone {
  if (broker.problem) return "bad";
  if (broker.is_master) return "accent";
  return broker.replica?.in_sync === false ? "warn" : "good";
}

export function diskTone(broker: Broker): Tone {
  const disk = broker.disk;
  if (disk?.used == null) return "plain";
  return disk.used >= disk.clean ? "bad" : disk.used >= disk.warn ? "warn" : "accent";
}

function memberNote(broker: Broker): string {
  if (broker.problem) return broker.problem;
  const replica = broker.replica;
  if (replica?.lag_bytes) {
    const late = replica.lag_ms ? `, ${duration(replica.lag_ms)}` : "";
    return t("{lag} behind", { lag: bytes(replica.lag_bytes) + late });
  }
  if (replica) return replica.in_sync === false ? replica.why : t("in sync");
  return broker.version ?? "";
}
