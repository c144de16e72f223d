//! What kind of place an address is: the open network, this machine, a private network, or where clouds keep credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who may connect to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// Anybody may.
    Public,
    /// This machine and private networks: what an author names, and what a rule of the policy names.
    Private,
    /// Link-local addresses, behind which clouds hand out credentials: only by a rule that names the address itself.
    Metadata,
}

/// Hosts of cloud metadata outside the link-local ranges.
const METADATA_V4: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// The zone of an address; one that wraps an IPv4 address has that one's.
pub(super) fn zone(address: IpAddr) -> Zone {
    match address {
        IpAddr::V4(v4) => zone_v4(v4),
        IpAddr::V6(v6) => match wrapped(v6) {
            Some(v4) => zone_v4(v4),
            None => zone_v6(v6),
        },
    }
}

fn zone_v4(address: Ipv4Addr) -> Zone {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        _ if address.is_link_local() || address == METADATA_V4 => Zone::Metadata,
        // This host, loopback, private networks, carrier NAT, protocol assignments, benchmarks.
        (0 | 10 | 127, ..)
        | (172, 16..=31, _)
        | (192, 168, _)
        | (100, 64..=127, _)
        | (192, 0, 0)
        | (198, 18..=19, _)
        // Multicast, reserved, broadcast.
        | (224..=255, ..) => Zone::Private,
        _ => Zone::Public,
    }
}

fn zone_v6(address: Ipv6Addr) -> Zone {
    let first = address.segments()[0];
    match first {
        _ if address == METADATA_V6 || first & 0xffc0 == 0xfe80 => Zone::Metadata,
        _ if address.is_loopback() || address.is_unspecified() || address.is_multicast() => Zone::Private,
        // Unique local, and site local of old.
        _ if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => Zone::Private,
        _ => Zone::Public,
    }
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, NAT64, 6to4, Teredo.
fn wrapped(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        [0x2001, 0, _, _, _, _, high, low] => v4(!high, !low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_in_its_zone_however_it_is_written() {
        for (zone_wanted, addresses) in [
            (Zone::Public, &["8.8.8.8", "198.51.100.7", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"][..]),
            (
                Zone::Private,
                &[
                    "127.0.0.1",
                    "127.9.9.9",
                    "0.0.0.0",
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.1",
                    "192.168.1.1",
                    "100.64.0.1",
                    "224.0.0.1",
                    "255.255.255.255",
                    "::1",
                    "::",
                    "fc00::1",
                    "fd12::1",
                    "ff02::1",
                    "::ffff:127.0.0.1",
                    "::ffff:10.0.0.1",
                    "64:ff9b::7f00:1",
                    "2002:7f00:1::",
                    "::127.0.0.1",
                    "2001:0:4136:e378:8000:63bf:80ff:fffe",
                ],
            ),
            (
                Zone::Metadata,
                &[
                    "169.254.169.254",
                    "169.254.0.1",
                    "100.100.100.200",
                    "fe80::1",
                    "fd00:ec2::254",
                    "::ffff:169.254.169.254",
                    "64:ff9b::a9fe:a9fe",
                    "2002:a9fe:a9fe::",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(zone(address.parse().unwrap()), zone_wanted, "{address}");
            }
        }
    }
}
