-- The database behind the till: PostgreSQL 16.

CREATE SCHEMA till;

-- People with a loyalty card.
CREATE TABLE till.card_holder (
    card_no      bigint PRIMARY KEY,           -- number printed on the card
    full_name    text NOT NULL,
    email        text UNIQUE,
    since        date NOT NULL,                -- day the card was issued
    referred_by  bigint REFERENCES till.card_holder (card_no)  -- who brought them in
);

-- Shops, one row each.
CREATE TABLE till.shop (
    shop_no   int PRIMARY KEY,
    name      text NOT NULL,
    city      text NOT NULL
);

-- Articles on sale.
CREATE TABLE till.article (
    article_no  bigint PRIMARY KEY,
    ean         char(13) UNIQUE,               -- bar code
    label       text NOT NULL,                 -- text on the receipt
    vat_class   char(1) NOT NULL CHECK (vat_class IN ('A', 'B', 'Z')),
    unit_price  numeric(10, 2) NOT NULL        -- gross, in euro
);

-- One row per receipt.
CREATE TABLE till.receipt (
    shop_no     int NOT NULL REFERENCES till.shop,
    receipt_no  bigint NOT NULL,
    printed_at  timestamptz NOT NULL,
    card_no     bigint,                        -- empty when no card was shown
    total_amt   numeric(10, 2) NOT NULL,       -- gross, in euro
    PRIMARY KEY (shop_no, receipt_no)
);

-- One row per article on a receipt.
CREATE TABLE till.receipt_line (
    shop_no     int NOT NULL,
    receipt_no  bigint NOT NULL,
    line_no     int NOT NULL,
    article_no  bigint NOT NULL REFERENCES till.article (article_no),
    qty         int NOT NULL,
    disc_amt    numeric(10, 2) NOT NULL DEFAULT 0,
    PRIMARY KEY (shop_no, receipt_no, line_no),
    CONSTRAINT fk_line_receipt FOREIGN KEY (shop_no, receipt_no)
        REFERENCES till.receipt (shop_no, receipt_no)
);

ALTER TABLE till.receipt
    ADD CONSTRAINT fk_receipt_card FOREIGN KEY (card_no) REFERENCES till.card_holder (card_no);

COMMENT ON TABLE till.receipt IS 'Printed receipts; voided ones are deleted the same day.';
COMMENT ON COLUMN till.receipt_line.qty IS 'Pieces, or grams for goods sold by weight.';

-- Takings of each shop and day.
CREATE VIEW till.daily_takings AS
SELECT shop_no, printed_at::date AS day, count(*) AS receipts, sum(total_amt) AS takings
FROM till.receipt
GROUP BY shop_no, printed_at::date;

GRANT SELECT ON till.daily_takings TO reporting;
