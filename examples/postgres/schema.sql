-- Beside the data, the highest fence it was written under.
CREATE TABLE IF NOT EXISTS deploys (
    target  text PRIMARY KEY,
    version text NOT NULL,
    fence   bigint NOT NULL
);
