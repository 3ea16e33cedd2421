-- What did each customer spend?
SELECT c.name, SUM(o.total) FROM orders o JOIN customers c ON o.customer_id = c.id GROUP BY c.name;

SELECT b.city, s.city FROM orders o, addresses b, addresses s
WHERE o.billing_id = b.id AND o.shipping_id = s.id;
SELECT 1 FROM orders JOIN lines USING (order_id);
