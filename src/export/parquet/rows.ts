/** As many rows as a row group has at most: 20,000 keep a thread below 100 MB where 100,000 took 1.3 GB. */
export const mostRows = 20_000;
