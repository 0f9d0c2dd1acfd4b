"""Everyday synonyms, so that two statements about one thing share a word."""

from __future__ import annotations

GROUPS = """
port listens listen lauscht écoute escucha 端口 监听
price cost costs charge Preis kostet Kosten prix coût coûte precio coste cuesta 价格 费用 价钱 票价
deadline due Frist Abgabe échéance plazo vencimiento 截止 期限
duration length dauert Dauer durée dure duración dura 时长 持续
salary pay wage Gehalt Lohn verdient salaire paie sueldo salario 工资 月薪 薪水
memory ram Arbeitsspeicher mémoire memoria 内存
launch release rollout golive Veröffentlichung Markteinführung lancement lanzamiento 发布 上线
begins start starts starting begin beginnt beginnen startet Beginn commence commencent débute début empieza comienza 开始 开场
ends end finishes endet Ende finit termine acaba termina 结束
owner owns responsible zuständig verantwortlich responsable encargado 负责
leader head boss manager leitet Leiter Leitung Chef dirige directeur jefe 主管 经理
database db Datenbank 数据库
repository repo
configuration config settings Einstellungen Konfiguration réglages ajustes configuración 配置 设置
documentation docs Dokumentation
application app
administrator admin
photo picture photograph Foto Bild
car vehicle Auto Wagen Fahrzeug voiture véhicule coche vehículo
flat apartment Wohnung appartement logement piso apartamento
invoice bill Rechnung facture factura 发票 账单
holiday vacation Urlaub Ferien vacances vacaciones 假期
parcel package Paket colis paquete 包裹
meeting appointment Besprechung Sitzung Treffen réunion rendez-vous reunión cita 会议 开会
delete remove deletes removes löschen entfernen gelöscht supprimer effacer borrar eliminar 删除 移除
purchase buy bought kaufen gekauft acheter acheté comprar comprado
use uses used using utilise utilisons verwenden verwendet nutzen nutzt benutzen usamos usa usan usar 使用
covered insured versichert gedeckt couvert garanti assuré cubierto asegurado cubre
staff employees Mitarbeiter Personal personnel employés personal empleados 员工 职员
seats Plätze Sitzplätze asientos plazas 座位
weight weighs wiegt Gewicht poids pèse peso pesa 重量
height tall Höhe hoch hauteur haut altura alto 高度
width wide Breite breit largeur large anchura ancho 宽度
"""
"""One group a line; the first word is the key of the group."""
