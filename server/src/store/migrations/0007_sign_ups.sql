-- From here on somebody who signs up is made in the commit that makes them a member. Who belongs to nothing is what an attempt left behind
-- that broke off half-way, and would keep its address from whoever is invited with it.

delete from identity_users u where not exists (select from members m where m.person_id = u.id);
