/** Randomness and fresh identifiers. Seeded in tests. Not for secrets. */
export interface Random {
  /** Uniform in [0, 1). */
  float(): number;
  /** A fresh RFC 4122 version 4 UUID, lower case. */
  uuid(): string;
}
